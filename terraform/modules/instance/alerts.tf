locals {
  # When to tell, and what it means then. Times are seconds; what fails is a share of the requests.
  alarms = {
    removeOtpEmail = {
      failure_fraction = 0.01
      slow_after       = 2
      slow_means       = "The database is slow, or processes are started all the time: look at the latency of Firestore, and set min_instances."
      memory_means     = "It is called by more clients at once than it has memory for: raise memory, or lower concurrency."
    }
    export = {
      failure_fraction = 0.1
      slow_after       = 3000
      slow_means       = "An export comes near the limit of 60 minutes: export fewer organisations at a time, by org_ids."
      memory_means     = "An export needs more memory than measured so far: it should not depend on the number of records."
    }
    import = {
      failure_fraction = 0.1
      slow_after       = 3000
      slow_means       = "An import comes near the limit of 60 minutes. Where it ends with 504, send it again: it goes on from there."
      memory_means     = "An import needs more memory than measured so far: it should not depend on the number of records."
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
    display_name = "more than ${local.alarms[each.key].failure_fraction * 100} % of the requests are answered 5xx"
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
    content = "The log lines \"request failed\" of the same request id have the reason: docs/operations.md, \"Alarms\"."
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
    display_name = "one request in a hundred takes more than ${local.alarms[each.key].slow_after} s"
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
