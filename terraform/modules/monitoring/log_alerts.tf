# These alerts match log lines, not a metric: a metric that has no data yet cannot be used by an alert for minutes after its
# creation, and the first apply would fail.
locals {
  notification_period = "300s"

  import_services = join(" OR ", formatlist("\"%s\"", local.services.import))
  all_services    = join(" OR ", formatlist("\"%s\"", flatten(values(local.services))))
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

# Cloud Run adds this text to the log of a request that it rejects itself. The functions' own 401 and 403 have none. The uptime
# check notices only rejections of removals.
resource "google_monitoring_alert_policy" "rejecting" {
  project               = var.project_id
  display_name          = "identity: Cloud Run rejects requests"
  combiner              = "OR"
  severity              = "CRITICAL"
  notification_channels = var.notification_channels
  user_labels           = var.labels

  conditions {
    display_name = "Cloud Run rejected a request before a function received it"
    condition_matched_log {
      filter = "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = (${local.all_services}) AND log_id(\"run.googleapis.com/requests\") AND httpRequest.status = (401 OR 403) AND textPayload : \"The request was not\""
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
    content = "Run terraform plan, which prints the commands that disable the check of invokers: docs/operations-google-cloud.md, \"Public access without allUsers\"."
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
