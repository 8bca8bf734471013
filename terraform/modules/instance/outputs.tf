output "accounts" {
  description = "The service accounts of the functions, as IAM members."
  value       = values(google_service_account.function)[*].member
}

output "buckets" {
  description = "The names of the buckets, under `exports`, `imports` and `transfers`."
  value       = { for kind, bucket in google_storage_bucket.transfer : kind => bucket.name }
}

output "database" {
  description = "The database's name."
  value       = google_firestore_database.this.name
}

output "invoker_commands" {
  description = "The commands that disable the check of invokers."
  value = [
    for function in google_cloudfunctions2_function.this :
    "gcloud run services update ${function.name} --no-invoker-iam-check --region=${var.region} --project=${var.project_id}"
  ]
}

output "services" {
  description = "Each function's Cloud Run service, by the function's name in the code."
  value       = { for key, settings in local.functions : key => settings.name }
}

output "states" {
  description = "The state of each function in Google Cloud, by the function's name in the code."
  value       = { for key, function in google_cloudfunctions2_function.this : key => function.state }
}

output "uptime_check_id" {
  description = "The id of the uptime check, which alerts name."
  value       = google_monitoring_uptime_check_config.this.uptime_check_id
}
