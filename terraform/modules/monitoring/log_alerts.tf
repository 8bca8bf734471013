# These alerts match log lines, not a metric: a metric that has no data yet cannot be used by an alert for minutes after its
# creation, and the first apply would fail.
locals {
  import_services = join(" OR ", formatlist("\"%s\"", local.services.import))
  all_services    = join(" OR ", formatlist("\"%s\"", flatten(values(local.services))))

  # These outcomes are no fault of the request: CANCELLED means that the client disconnected, DEADLINE_EXCEEDED that the
  # timeout expired.
  unfinished = join(" OR ", formatlist("\"%s\"", ["CANCELLED", "UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE"]))

  of_service = { service = "EXTRACT(resource.labels.service_name)" }

  log_alerts = {
    # A single unfinished import matters.
    import_unfinished = {
      name      = "an import did not finish"
      severity  = "WARNING"
      condition = "an import was interrupted, timed out or failed"
      filter    = "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = (${local.import_services}) AND labels.log_type = \"audit\" AND jsonPayload.event = \"import.finished\" AND jsonPayload.outcome = (${local.unfinished})"
      labels    = local.of_service
      remedy    = "Send the same import again: it resumes, and writes no record twice."
    }
    # Cloud Run adds this text to the log of a request that it rejects itself. The functions' own 401 and 403 have none. The
    # uptime check notices only rejections of removals.
    rejecting = {
      name      = "Cloud Run rejects requests"
      severity  = "CRITICAL"
      condition = "Cloud Run rejected a request before a function received it"
      filter    = "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = (${local.all_services}) AND log_id(\"run.googleapis.com/requests\") AND httpRequest.status = (401 OR 403) AND textPayload : \"The request was not\""
      labels    = local.of_service
      remedy    = "Run terraform plan, which prints the commands that disable the check of invokers: docs/operations-google-cloud.md, \"Public access without allUsers\"."
    }
    backup_failed = {
      name      = "a backup fails"
      severity  = "ERROR"
      condition = "Firestore logged the error of a backup or its schedule"
      filter    = "protoPayload.serviceName = \"firestore.googleapis.com\" AND protoPayload.methodName =~ \"Backup\" AND severity >= ERROR"
      labels    = null
      remedy    = "Compare gcloud firestore backups list with the schedules: docs/operations-google-cloud.md, \"Backup and restore\"."
    }
  }
}

resource "google_monitoring_alert_policy" "log" {
  for_each = local.log_alerts

  project               = var.project_id
  display_name          = "identity: ${each.value.name}"
  combiner              = "OR"
  severity              = each.value.severity
  notification_channels = var.notification_channels
  user_labels           = var.labels

  conditions {
    display_name = each.value.condition
    condition_matched_log {
      filter           = each.value.filter
      label_extractors = each.value.labels
    }
  }

  alert_strategy {
    auto_close = local.auto_close
    notification_rate_limit {
      period = "300s"
    }
  }

  documentation {
    content = each.value.remedy
  }
}
