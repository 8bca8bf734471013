output "buckets" {
  description = "The buckets for files: exports and imports."
  value       = { for kind, bucket in google_storage_bucket.transfer : kind => bucket.name }
}

output "database" {
  description = "The name of the database."
  value       = google_firestore_database.this.name
}

output "services" {
  description = "The Cloud Run service of each function, by the function's name in the code."
  value       = { for key, function in google_cloudfunctions2_function.this : key => function.name }
}
