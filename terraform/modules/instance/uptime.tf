locals {
  # A request without a token, through the domain to the database. Only the function's own response has the content.
  probe = jsondecode(file("${path.module}/probe.json"))
}

resource "google_monitoring_uptime_check_config" "this" {
  project      = var.project_id
  display_name = "${var.id} at ${var.domain}"
  timeout      = "30s"
  period       = "300s"
  user_labels  = local.labels

  http_check {
    request_method = local.probe.method
    path           = local.probe.path
    port           = 443
    use_ssl        = true
    validate_ssl   = true

    accepted_response_status_codes {
      status_value = local.probe.status
    }
  }

  content_matchers {
    matcher = "CONTAINS_STRING"
    content = local.probe.content
  }

  monitored_resource {
    type = "uptime_url"
    labels = {
      project_id = var.project_id
      host       = var.domain
    }
  }

  # Another domain needs another check, and a check that an alert uses cannot be deleted.
  lifecycle {
    create_before_destroy = true
  }
}
