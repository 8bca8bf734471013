locals {
  backends = merge([
    for id, instance in var.instances : {
      for function, service in instance.services : "${id}/${function}" => service
    }
  ]...)
}

resource "google_compute_region_network_endpoint_group" "this" {
  for_each = local.backends

  name                  = each.value
  region                = var.region
  network_endpoint_type = "SERVERLESS"

  # Second-generation functions are Cloud Run services; `cloud_function` is for the first generation.
  cloud_run {
    service = each.value
  }
}

# No timeout and no health check: the API rejects both for serverless endpoints.
resource "google_compute_backend_service" "this" {
  for_each = local.backends

  name                  = each.value
  load_balancing_scheme = "EXTERNAL_MANAGED"
  protocol              = "HTTPS"
  security_policy       = google_compute_security_policy.this.id

  backend {
    group = google_compute_region_network_endpoint_group.this[each.key].id
  }

  log_config {
    enable      = true
    sample_rate = 1
  }

  # The URL map drops a backend before its deletion, because Google rejects the deletion of a backend in use.
  lifecycle {
    create_before_destroy = true
  }
}
