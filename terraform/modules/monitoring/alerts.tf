resource "google_monitoring_alert_policy" "failing" {
  project               = var.project_id
  display_name          = "identity: a function fails"
  combiner              = "OR"
  severity              = "ERROR"
  notification_channels = var.notification_channels
  user_labels           = var.labels

  dynamic "conditions" {
    for_each = local.thresholds
    content {
      display_name = "more than ${conditions.value.failure_fraction * 100} % of the requests to ${conditions.key} returned 5xx"
      condition_threshold {
        filter             = "${local.of_function[conditions.key]} AND metric.type = \"run.googleapis.com/request_count\" AND metric.labels.response_code_class = \"5xx\""
        denominator_filter = "${local.of_function[conditions.key]} AND metric.type = \"run.googleapis.com/request_count\""
        comparison         = "COMPARISON_GT"
        threshold_value    = conditions.value.failure_fraction
        duration           = "0s"
        aggregations {
          alignment_period     = "300s"
          per_series_aligner   = "ALIGN_DELTA"
          cross_series_reducer = "REDUCE_SUM"
          group_by_fields      = local.by_service
        }
        denominator_aggregations {
          alignment_period     = "300s"
          per_series_aligner   = "ALIGN_DELTA"
          cross_series_reducer = "REDUCE_SUM"
          group_by_fields      = local.by_service
        }
      }
    }
  }

  alert_strategy {
    auto_close = local.auto_close
  }

  documentation {
    content = "Search the function's log for \"request failed\", and read stack_trace. A 503 has no such line."
  }
}

resource "google_monitoring_alert_policy" "slow" {
  project               = var.project_id
  display_name          = "identity: a function is slow"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = var.notification_channels
  user_labels           = var.labels

  dynamic "conditions" {
    for_each = local.thresholds
    content {
      display_name = "1 % of the requests to ${conditions.key} took longer than ${conditions.value.slow_after} s"
      condition_threshold {
        filter          = "${local.of_function[conditions.key]} AND metric.type = \"run.googleapis.com/request_latencies\""
        comparison      = "COMPARISON_GT"
        threshold_value = conditions.value.slow_after * 1000
        duration        = "0s"
        aggregations {
          alignment_period     = "300s"
          per_series_aligner   = "ALIGN_DELTA"
          cross_series_reducer = "REDUCE_PERCENTILE_99"
          group_by_fields      = local.by_service
        }
      }
    }
  }

  alert_strategy {
    auto_close = local.auto_close
  }

  documentation {
    content = "Removals: check Firestore's latency, and set min_instances if cold starts are frequent. Exports: select fewer organisations with org_ids. Imports: one that ends with 504 resumes when it is sent again."
  }
}

resource "google_monitoring_alert_policy" "memory" {
  project               = var.project_id
  display_name          = "identity: a function runs out of memory"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = var.notification_channels
  user_labels           = var.labels

  conditions {
    display_name = "a process uses more than ${local.memory_fraction * 100} % of its memory"
    condition_threshold {
      filter          = "${local.of_all} AND metric.type = \"run.googleapis.com/container/memory/utilizations\""
      comparison      = "COMPARISON_GT"
      threshold_value = local.memory_fraction
      duration        = "0s"
      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_PERCENTILE_99"
        group_by_fields      = local.by_service
      }
    }
  }

  alert_strategy {
    auto_close = local.auto_close
  }

  documentation {
    content = "Raise the function's entry in memory. Of an export or import, also open an issue: memory should not grow with the number of records."
  }
}

# With all processes busy, Cloud Run returns 429 by itself. The load balancer's own 429 are not counted here.
resource "google_monitoring_alert_policy" "exhausted" {
  project               = var.project_id
  display_name          = "identity: a function is exhausted"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = var.notification_channels
  user_labels           = var.labels

  conditions {
    display_name = "requests returned 429, because all processes were busy"
    condition_threshold {
      filter          = "${local.of_all} AND metric.type = \"run.googleapis.com/request_count\" AND metric.labels.response_code = \"429\""
      comparison      = "COMPARISON_GT"
      threshold_value = 0
      duration        = "0s"
      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
        group_by_fields      = local.by_service
      }
    }
  }

  alert_strategy {
    auto_close = local.auto_close
  }

  documentation {
    content = "Find in the load balancer's log who sends the requests: lower admin_requests_per_minute, or raise max_instances."
  }
}

resource "google_monitoring_alert_policy" "unreachable" {
  project               = var.project_id
  display_name          = "identity: an instance cannot be reached"
  combiner              = "OR"
  severity              = "CRITICAL"
  notification_channels = var.notification_channels
  user_labels           = var.labels

  conditions {
    display_name = "a domain's check fails from more than one location"
    condition_threshold {
      filter          = "resource.type = \"uptime_url\" AND metric.type = \"monitoring.googleapis.com/uptime_check/check_passed\" AND metric.labels.check_id = one_of(${join(", ", formatlist("\"%s\"", values(var.instances)[*].uptime_check_id))})"
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

  alert_strategy {
    auto_close = local.auto_close
  }

  documentation {
    content = "Check the domain's DNS records, its certificate, then the log of removeOtpEmail. If the check got 503, the database is unreachable; if 403, Cloud Run checks invokers: docs/operations-google-cloud.md, \"Public access without allUsers\"."
  }
}
