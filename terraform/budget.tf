# Google mails the billing account's administrators and alert_email when the costs of a month reach a share of the budget.
resource "google_billing_budget" "this" {
  count = var.monthly_budget == null ? 0 : 1

  billing_account = var.monthly_budget.billing_account
  display_name    = "identity: ${var.project_id}"

  # Google returns the project's number in place of its id.
  budget_filter {
    projects = ["projects/${google_storage_bucket.source.project_number}"]
  }

  amount {
    specified_amount {
      units = tostring(var.monthly_budget.amount)
    }
  }

  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1]
    content {
      threshold_percent = threshold_rules.value
    }
  }

  # A budget accepts channels for e-mail only, so those of notification_channels cannot be added.
  dynamic "all_updates_rule" {
    for_each = var.alert_email == null ? [] : [google_monitoring_notification_channel.email[*].name]
    content {
      monitoring_notification_channels = all_updates_rule.value
    }
  }

  depends_on = [time_sleep.services]
}
