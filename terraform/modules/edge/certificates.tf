# DNS authorisation issues the certificate before the domain points at the load balancer. Everything here belongs to a domain,
# not to an instance: a domain that passes to another instance keeps its certificate.
locals {
  certificate_names = { for domain in flatten(values(var.instances)[*].domains) : domain => "identity-${substr(sha256(domain), 0, 8)}" }
}

# PER_PROJECT_RECORD, so that another project, such as the next cell, can authorise the same domain at the same time.
resource "google_certificate_manager_dns_authorization" "this" {
  for_each = local.certificate_names

  name   = each.value
  domain = each.key
  type   = "PER_PROJECT_RECORD"
}

resource "google_certificate_manager_certificate" "this" {
  for_each = local.certificate_names

  name = each.value

  managed {
    domains            = [each.key]
    dns_authorizations = [google_certificate_manager_dns_authorization.this[each.key].id]
  }
}

resource "google_certificate_manager_certificate_map" "this" {
  name = "identity"
}

resource "google_certificate_manager_certificate_map_entry" "this" {
  for_each = local.certificate_names

  name         = each.value
  map          = google_certificate_manager_certificate_map.this.name
  hostname     = each.key
  certificates = [google_certificate_manager_certificate.this[each.key].id]
}
