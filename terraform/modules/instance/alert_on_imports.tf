# A single unfinished import matters: 499 means that the client disconnected, 504 that the timeout expired.
resource "google_logging_metric" "import_unfinished" {
  project     = var.project_id
  name        = "${local.functions.import.name}-unfinished"
  description = "Imports that were interrupted, timed out or failed."
  filter      = "${local.of_function.import} AND jsonPayload.route = \"/admin/v1/import\" AND jsonPayload.status >= 499"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "INT64"
  }
}

resource "google_monitoring_alert_policy" "import_unfinished" {
  project               = var.project_id
  display_name          = "${local.functions.import.name} did not finish"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = var.notification_channels

  conditions {
    display_name = "an import was interrupted, timed out or failed"
    condition_threshold {
      filter          = "resource.type = \"cloud_run_revision\" AND metric.type = \"logging.googleapis.com/user/${google_logging_metric.import_unfinished.name}\""
      comparison      = "COMPARISON_GT"
      threshold_value = 0
      duration        = "0s"
      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }

  documentation {
    content = "Send the same import again: it resumes, and writes no record twice."
  }
}
