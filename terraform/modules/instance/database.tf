# An instance that is taken out of the map leaves its data behind: its database, the indexes and rules of that, and the
# backups. What is deleted is deleted by hand (README, "Remove an instance without losing its data").

resource "google_firestore_database" "this" {
  project                           = var.project_id
  name                              = var.database
  location_id                       = var.location
  type                              = "FIRESTORE_NATIVE"
  concurrency_mode                  = "PESSIMISTIC"
  point_in_time_recovery_enablement = "POINT_IN_TIME_RECOVERY_ENABLED"
  delete_protection_state           = "DELETE_PROTECTION_ENABLED"
  deletion_policy                   = "ABANDON"
}

resource "google_firestore_backup_schedule" "daily" {
  project         = var.project_id
  database        = google_firestore_database.this.name
  retention       = "604800s"
  deletion_policy = "ABANDON"

  daily_recurrence {}
}
