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

  # A function of the second generation is a Cloud Run service; `cloud_function` is for the first.
  cloud_run {
    service = each.value
  }
}

# No time-out and no health check: for serverless endpoints the API refuses both.
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

  # The map lets go of a backend before that is deleted: Google deletes none that is in use.
  lifecycle {
    create_before_destroy = true
  }
}
