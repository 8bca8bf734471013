# The recipients of alerts: the given channels, and a channel for the address. Google sends e-mail to the address without a
# confirmation.
resource "google_monitoring_notification_channel" "email" {
  count = var.alert_email == null ? 0 : 1

  display_name = "identity"
  type         = "email"
  labels       = { email_address = var.alert_email }
  user_labels  = local.labels

  depends_on = [time_sleep.services]

  # Alerts stop using a channel before its deletion, because Google rejects the deletion of a channel in use.
  lifecycle {
    create_before_destroy = true
  }
}

locals {
  notification_channels = setunion(var.notification_channels, google_monitoring_notification_channel.email[*].name)
}

# Each plan prints a warning, not an error, because an instance can be tried without a recipient.
check "alerts_have_a_recipient" {
  assert {
    condition     = var.alert_email != null || length(var.notification_channels) > 0
    error_message = "Alerts have no recipient: set alert_email or notification_channels."
  }
}
