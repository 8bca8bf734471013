# Who is told of alerts: the given channels, and one for the address. Google sends e-mail to an address without asking it first.
resource "google_monitoring_notification_channel" "email" {
  count = var.alert_email == null ? 0 : 1

  display_name = "identity"
  type         = "email"
  labels       = { email_address = var.alert_email }
  user_labels  = local.labels

  depends_on = [time_sleep.services]

  # The alerts drop a channel before it goes, because Google rejects the deletion of one in use.
  lifecycle {
    create_before_destroy = true
  }
}

locals {
  notification_channels = setunion(var.notification_channels, google_monitoring_notification_channel.email[*].name)
}

# A warning of each plan, not an error: an instance can be tried without anybody to notify.
check "alerts_reach_somebody" {
  assert {
    condition     = var.alert_email != null || length(var.notification_channels) > 0
    error_message = "Nobody is notified of alerts: set alert_email, or notification_channels."
  }
}
