resource "google_service_account" "function" {
  for_each = local.functions

  project      = var.project_id
  account_id   = each.value.account
  display_name = "Function ${each.key} of the identity instance ${var.id}"
}

# Databases have no IAM policies: the role is granted on the project, and its condition selects this instance's database.
resource "google_project_iam_member" "database" {
  for_each = local.functions

  project = var.project_id
  role    = each.value.database_role
  member  = google_service_account.function[each.key].member

  condition {
    title      = "database-${var.id}"
    expression = "resource.name == \"projects/${var.project_id}/databases/${google_firestore_database.this.name}\""
  }
}
