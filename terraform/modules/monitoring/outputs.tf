output "alerts" {
  description = "The names of the alert policies, by what they report."
  value = {
    backup_failed     = google_monitoring_alert_policy.backup_failed.display_name
    exhausted         = google_monitoring_alert_policy.exhausted.display_name
    failing           = google_monitoring_alert_policy.failing.display_name
    import_unfinished = google_monitoring_alert_policy.import_unfinished.display_name
    memory            = google_monitoring_alert_policy.memory.display_name
    slow              = google_monitoring_alert_policy.slow.display_name
    unreachable       = google_monitoring_alert_policy.unreachable.display_name
  }
}

output "notified" {
  description = "The full names of the notification channels that alerts reach."
  value       = google_monitoring_alert_policy.unreachable.notification_channels
}
