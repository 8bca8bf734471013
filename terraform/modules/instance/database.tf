# Removing an instance from the map keeps its database, indexes and backups: a mistaken removal must lose no data.
# Deletion is manual: docs/deploying.md describes it.

resource "google_firestore_database" "this" {
  project                           = var.project_id
  name                              = var.database
  location_id                       = var.location
  type                              = "FIRESTORE_NATIVE"
  concurrency_mode                  = "PESSIMISTIC"
  point_in_time_recovery_enablement = "POINT_IN_TIME_RECOVERY_ENABLED"
  delete_protection_state           = "DELETE_PROTECTION_ENABLED"
  deletion_policy                   = "ABANDON"

  dynamic "cmek_config" {
    for_each = var.kms_keys.database == null ? [] : [var.kms_keys.database]
    content {
      kms_key_name = cmek_config.value
    }
  }

  # A change of these would drop the database from the state and create another one. It is rejected instead.
  lifecycle {
    ignore_changes = [name, location_id, cmek_config]

    postcondition {
      condition     = self.name == var.database
      error_message = "The instance ${var.id} has the database ${self.name}. To use ${var.database} instead, replace the database in Terraform's state first (docs/operations-google-cloud.md, \"Backup and restore\")."
    }
    postcondition {
      condition     = self.location_id == var.location
      error_message = "The database ${self.name} is in ${self.location_id} and cannot move to ${var.location}: set the instance's location back."
    }
    postcondition {
      condition     = one(self.cmek_config[*].kms_key_name) == var.kms_keys.database
      error_message = "The key of the database ${self.name} cannot change: set the instance's database_kms_key back."
    }
  }
}

resource "google_firestore_backup_schedule" "daily" {
  project         = var.project_id
  database        = google_firestore_database.this.name
  retention       = "${var.backup_days * 86400}s"
  deletion_policy = "ABANDON"

  daily_recurrence {}
}
