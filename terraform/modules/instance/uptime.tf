locals {
  # Requests without a token: the expected rejection proves that the path reaches its function.
  probes = { for probe in jsondecode(file("${path.module}/probes.json")) : probe.function => probe }
}

resource "google_monitoring_uptime_check_config" "this" {
  for_each = local.probes

  project      = var.project_id
  display_name = "${local.functions[each.key].name} at ${var.domain}"
  timeout      = "30s"
  period       = "300s"

  http_check {
    request_method      = each.value.method
    path                = each.value.path
    port                = 443
    use_ssl             = true
    validate_ssl        = true
    content_type        = each.value.method == "POST" ? "USER_PROVIDED" : null
    custom_content_type = each.value.method == "POST" ? "application/json" : null
    body                = each.value.method == "POST" ? base64encode("{}") : null

    accepted_response_status_codes {
      status_value = each.value.status
    }
  }

  # The functions' errors contain this text; the load balancer's own pages do not.
  content_matchers {
    matcher = "CONTAINS_STRING"
    content = "\"code\":"
  }

  monitored_resource {
    type = "uptime_url"
    labels = {
      project_id = var.project_id
      host       = var.domain
    }
  }
}

resource "google_monitoring_alert_policy" "unreachable" {
  for_each = local.probes

  project               = var.project_id
  display_name          = "${local.functions[each.key].name} cannot be reached"
  combiner              = "OR"
  severity              = "CRITICAL"
  notification_channels = var.notification_channels

  conditions {
    display_name = "${each.value.method} https://${var.domain}${each.value.path} does not return ${each.value.status} from more than one location"
    condition_threshold {
      filter          = "resource.type = \"uptime_url\" AND metric.type = \"monitoring.googleapis.com/uptime_check/check_passed\" AND metric.labels.check_id = \"${google_monitoring_uptime_check_config.this[each.key].uptime_check_id}\""
      comparison      = "COMPARISON_GT"
      threshold_value = 1
      duration        = "600s"
      aggregations {
        alignment_period     = "1200s"
        per_series_aligner   = "ALIGN_NEXT_OLDER"
        cross_series_reducer = "REDUCE_COUNT_FALSE"
        group_by_fields      = ["resource.label.host"]
      }
    }
  }

  documentation {
    content = "Check the domain's DNS record, its certificate, the load balancer and the function: docs/operations.md, \"Alarms\"."
  }
}
