locals {
  addresses = { IPV4 = "identity", IPV6 = "identity-ipv6" }
}

resource "google_compute_global_address" "this" {
  for_each = local.addresses

  name       = each.value
  ip_version = each.key
}

resource "google_compute_ssl_policy" "this" {
  name            = "identity"
  profile         = "RESTRICTED"
  min_tls_version = "TLS_1_2"
}

resource "google_compute_target_https_proxy" "this" {
  name            = "identity"
  url_map         = google_compute_url_map.this.id
  ssl_policy      = google_compute_ssl_policy.this.id
  certificate_map = "//certificatemanager.googleapis.com/${google_certificate_manager_certificate_map.this.id}"
}

# Port 80 stays closed, even for redirects: a token sent to it would already have crossed the network in clear text.
resource "google_compute_global_forwarding_rule" "https" {
  for_each = local.addresses

  name                  = each.value
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.this[each.key].id
  port_range            = "443"
  target                = google_compute_target_https_proxy.this.id
}
