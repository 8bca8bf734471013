# These alerts match log lines, not a metric: a metric that has no data yet cannot be used by an alert for minutes after its
# creation, and the first apply would fail.
locals {
  notification_period = "300s"

  import_services = join(" OR ", formatlist("\"%s\"", local.services.import))
}

# A single unfinished import matters. These outcomes are no fault of the request: CANCELLED means that the client disconnected,
# DEADLINE_EXCEEDED that the timeout expired.
locals {
  unfinished = join(" OR ", formatlist("\"%s\"", ["CANCELLED", "UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE"]))
}

resource "google_monitoring_alert_policy" "import_unfinished" {
  project               = var.project_id
  display_name          = "identity: an import did not finish"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = var.notification_channels
  user_labels           = var.labels

  conditions {
    display_name = "an import was interrupted, timed out or failed"
    condition_matched_log {
      filter = "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = (${local.import_services}) AND labels.log_type = \"audit\" AND jsonPayload.event = \"import.finished\" AND jsonPayload.outcome = (${local.unfinished})"
      label_extractors = {
        service = "EXTRACT(resource.labels.service_name)"
      }
    }
  }

  alert_strategy {
    auto_close = local.auto_close
    notification_rate_limit {
      period = local.notification_period
    }
  }

  documentation {
    content = "Send the same import again: it resumes, and writes no record twice."
  }
}

resource "google_monitoring_alert_policy" "backup_failed" {
  project               = var.project_id
  display_name          = "identity: a backup fails"
  combiner              = "OR"
  severity              = "ERROR"
  notification_channels = var.notification_channels
  user_labels           = var.labels

  conditions {
    display_name = "Firestore logged the error of a backup or its schedule"
    condition_matched_log {
      filter = "protoPayload.serviceName = \"firestore.googleapis.com\" AND protoPayload.methodName =~ \"Backup\" AND severity >= ERROR"
    }
  }

  alert_strategy {
    auto_close = local.auto_close
    notification_rate_limit {
      period = local.notification_period
    }
  }

  documentation {
    content = "Compare gcloud firestore backups list with the schedules: docs/operations-google-cloud.md, \"Backup and restore\"."
  }
}
