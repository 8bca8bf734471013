# Google notifies of a budget, and enforces nothing. By default it sends e-mail to the billing account's administrators.
resource "google_billing_budget" "this" {
  count = var.budget == null ? 0 : 1

  billing_account = var.budget.billing_account
  display_name    = "identity in ${var.project_id}"

  budget_filter {
    projects = ["projects/${google_storage_bucket.source.project_number}"]
  }

  amount {
    specified_amount {
      currency_code = var.budget.currency
      units         = tostring(var.budget.amount)
    }
  }

  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1]
    content {
      threshold_percent = threshold_rules.value
      spend_basis       = "CURRENT_SPEND"
    }
  }

  threshold_rules {
    threshold_percent = 1
    spend_basis       = "FORECASTED_SPEND"
  }

  depends_on = [time_sleep.services]
}
