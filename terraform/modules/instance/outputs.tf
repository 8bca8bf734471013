output "buckets" {
  description = "The names of the transfer buckets, under `exports` and `imports`."
  value       = { for kind, bucket in google_storage_bucket.transfer : kind => bucket.name }
}

output "database" {
  description = "The database's name."
  value       = google_firestore_database.this.name
}

output "services" {
  description = "Each function's Cloud Run service, by the function's name in the code."
  value       = { for key, function in google_cloudfunctions2_function.this : key => function.name }
}
