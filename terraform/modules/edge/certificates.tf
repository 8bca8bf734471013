# DNS authorisation issues the certificate before the domain points at the load balancer.
resource "google_certificate_manager_dns_authorization" "this" {
  for_each = var.instances

  name   = "identity-${each.key}"
  domain = each.value.domain
}

resource "google_certificate_manager_certificate" "this" {
  for_each = var.instances

  name = "identity-${each.key}"

  managed {
    domains            = [each.value.domain]
    dns_authorizations = [google_certificate_manager_dns_authorization.this[each.key].id]
  }
}

resource "google_certificate_manager_certificate_map" "this" {
  name = "identity"
}

resource "google_certificate_manager_certificate_map_entry" "this" {
  for_each = var.instances

  name         = "identity-${each.key}"
  map          = google_certificate_manager_certificate_map.this.name
  hostname     = each.value.domain
  certificates = [google_certificate_manager_certificate.this[each.key].id]
}
