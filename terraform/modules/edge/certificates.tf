# DNS authorisation issues the certificate before the domain points at the load balancer. Names contain a digest of the
# domain: a changed domain gets resources of its own before the old ones go.
locals {
  certificate_names = { for id, instance in var.instances : id => "identity-${id}-${substr(sha256(instance.domain), 0, 8)}" }
}

# PER_PROJECT_RECORD, so that another project, such as the next cell, can authorise the same domain at the same time.
resource "google_certificate_manager_dns_authorization" "this" {
  for_each = var.instances

  name   = local.certificate_names[each.key]
  domain = each.value.domain
  type   = "PER_PROJECT_RECORD"

  lifecycle {
    create_before_destroy = true
  }
}

resource "google_certificate_manager_certificate" "this" {
  for_each = var.instances

  name = local.certificate_names[each.key]

  managed {
    domains            = [each.value.domain]
    dns_authorizations = [google_certificate_manager_dns_authorization.this[each.key].id]
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "google_certificate_manager_certificate_map" "this" {
  name = "identity"
}

resource "google_certificate_manager_certificate_map_entry" "this" {
  for_each = var.instances

  name         = local.certificate_names[each.key]
  map          = google_certificate_manager_certificate_map.this.name
  hostname     = each.value.domain
  certificates = [google_certificate_manager_certificate.this[each.key].id]

  lifecycle {
    create_before_destroy = true
  }
}
