# Google's own record of who read data: the database by other accounts than the instances' own, and the master keys.
# The service named datastore configures Firestore's log too (https://cloud.google.com/firestore/docs/audit-logging).
locals {
  data_access_exemptions = {
    # The functions record their calls in the audit trail. Here, each of their commits would be an entry.
    "datastore.googleapis.com"     = flatten(values(module.instance)[*].accounts)
    "secretmanager.googleapis.com" = []
  }
}

# It replaces the project's own setting of these services. Those of a folder and of the organisation hold beside it.
resource "google_project_iam_audit_config" "data_access" {
  for_each = local.data_access_exemptions

  project = var.project_id
  service = each.key

  dynamic "audit_log_config" {
    for_each = ["DATA_READ", "DATA_WRITE"]
    content {
      log_type         = audit_log_config.value
      exempted_members = each.value
    }
  }
}
