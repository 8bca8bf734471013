locals {
  # Databases have no IAM policies: roles are granted on the project, and this condition selects the instance's database.
  own_database = "resource.name == \"projects/${var.project_id}/databases/${google_firestore_database.this.name}\""
}

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

  # Functions use the old secret until they are updated.
  lifecycle {
    create_before_destroy = true
  }
}

resource "google_project_iam_member" "database" {
  for_each = local.functions

  project = var.project_id
  role    = each.value.database_role
  member  = google_service_account.function[each.key].member

  condition {
    title      = "database-${var.id}"
    expression = local.own_database
  }

  # Functions use the old database until they are updated.
  lifecycle {
    create_before_destroy = true
  }
}

# An account without a key signs through IAM Credentials, which asks for this role, also for a signature of the account's own.
resource "google_service_account_iam_member" "signer" {
  service_account_id = google_service_account.function["export"].name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = google_service_account.function["export"].member
}

# Roles take effect a while after they are granted, and a function that may not read its secret cannot start.
resource "time_sleep" "roles" {
  create_duration = "120s"
  triggers = {
    roles = join(" ", concat(
      values(google_project_iam_member.database)[*].id,
      values(google_secret_manager_secret_iam_member.master_key)[*].id,
      values(google_storage_bucket_iam_member.transfers)[*].id,
      [google_service_account_iam_member.signer.id],
    ))
  }
}
