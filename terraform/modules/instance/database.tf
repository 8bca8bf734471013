# Removing an instance from the map keeps its database, indexes, rules and backups: a mistaken removal must lose no data.
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
}

resource "google_firestore_backup_schedule" "daily" {
  project         = var.project_id
  database        = google_firestore_database.this.name
  retention       = "604800s"
  deletion_policy = "ABANDON"

  daily_recurrence {}
}
