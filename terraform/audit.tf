# Google's own record of reads: of the database by accounts other than the instances' own, and of the master keys. The service
# named datastore also configures Firestore's log (https://cloud.google.com/firestore/docs/audit-logging).
locals {
  data_access_exemptions = {
    # The functions record their calls in the audit trail. Without the exemption, Google would record each of their commits.
    "datastore.googleapis.com"     = flatten(values(module.instance)[*].accounts)
    "secretmanager.googleapis.com" = []
  }
}

# It replaces the project's own setting for these services. The settings of a folder and of the organisation also apply.
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
