locals {
  # Each function's thresholds, and the cause and remedy that its alerts name. Times are in seconds.
  alarms = {
    removeOtpEmail = {
      failure_fraction = 0.01
      slow_after       = 2
      slow_means       = "The database is slow, or cold starts are frequent: check Firestore's latency, and set min_instances."
      memory_means     = "The concurrent requests need more memory than available: raise memory, or lower concurrency."
    }
    export = {
      failure_fraction = 0.1
      slow_after       = 3000
      slow_means       = "An export approaches the limit of 60 minutes: select fewer organisations with org_ids."
      memory_means     = "An export needs more memory than measured: report it, since memory should not grow with the number of records."
    }
    import = {
      failure_fraction = 0.1
      slow_after       = 3000
      slow_means       = "An import approaches the limit of 60 minutes. If it ends with 504, send it again: it resumes."
      memory_means     = "An import needs more memory than measured: report it, since memory should not grow with the number of records."
    }
  }

  of_function = { for key, function in local.functions : key =>
    "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = \"${function.name}\""
  }
}

resource "google_monitoring_alert_policy" "failing" {
  for_each = local.functions

  project               = var.project_id
  display_name          = "${each.value.name} fails"
  combiner              = "OR"
  severity              = "ERROR"
  notification_channels = var.notification_channels

  conditions {
    display_name = "more than ${local.alarms[each.key].failure_fraction * 100} % of the requests returned 5xx"
    condition_threshold {
      filter             = "${local.of_function[each.key]} AND metric.type = \"run.googleapis.com/request_count\" AND metric.labels.response_code_class = \"5xx\""
      denominator_filter = "${local.of_function[each.key]} AND metric.type = \"run.googleapis.com/request_count\""
      comparison         = "COMPARISON_GT"
      threshold_value    = local.alarms[each.key].failure_fraction
      duration           = "0s"
      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
      }
      denominator_aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }

  documentation {
    content = "The log lines \"request failed\" hold the reason: docs/operations.md, \"Alarms\"."
  }
}

resource "google_monitoring_alert_policy" "slow" {
  for_each = local.functions

  project               = var.project_id
  display_name          = "${each.value.name} is slow"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = var.notification_channels

  conditions {
    display_name = "1 % of the requests took longer than ${local.alarms[each.key].slow_after} s"
    condition_threshold {
      filter          = "${local.of_function[each.key]} AND metric.type = \"run.googleapis.com/request_latencies\""
      comparison      = "COMPARISON_GT"
      threshold_value = local.alarms[each.key].slow_after * 1000
      duration        = "0s"
      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_PERCENTILE_99"
      }
    }
  }

  documentation {
    content = local.alarms[each.key].slow_means
  }
}

resource "google_monitoring_alert_policy" "memory" {
  for_each = local.functions

  project               = var.project_id
  display_name          = "${each.value.name} runs out of memory"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = var.notification_channels

  conditions {
    display_name = "a process uses more than 90 % of its ${each.value.memory} MiB"
    condition_threshold {
      filter          = "${local.of_function[each.key]} AND metric.type = \"run.googleapis.com/container/memory/utilizations\""
      comparison      = "COMPARISON_GT"
      threshold_value = 0.9
      duration        = "0s"
      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_PERCENTILE_99"
      }
    }
  }

  documentation {
    content = local.alarms[each.key].memory_means
  }
}
