output "notified" {
  description = "The full names of the notification channels that alerts reach."
  value       = google_monitoring_alert_policy.unreachable.notification_channels
}
