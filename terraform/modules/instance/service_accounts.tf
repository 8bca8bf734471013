resource "google_service_account" "function" {
  for_each = local.functions

  project      = var.project_id
  account_id   = each.value.account
  display_name = "Function ${each.key} of the identity instance ${var.id}"
}

# The operator creates the secret and its versions, so that Terraform's state has no key, and removing an instance keeps it.
resource "google_secret_manager_secret_iam_member" "master_key" {
  for_each = { for name, settings in local.functions : name => settings if settings.master_key }

  project   = var.project_id
  secret_id = var.master_key.secret
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function[each.key].member
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
