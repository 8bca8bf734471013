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

output "checked_services" {
  description = "With `public_access = \"unchecked\"`, the services that reject each request, because Cloud Run still checks invokers."
  value       = [for key, service in data.google_cloud_run_v2_service.after : service.name if !service.invoker_iam_disabled]
}

output "invoker_commands" {
  description = "The commands that disable the check of invokers."
  value = [
    for function in google_cloudfunctions2_function.this :
    "gcloud run services update ${function.name} --no-invoker-iam-check --region=${var.region} --project=${var.project_id}"
  ]
}

output "losing_services" {
  description = "With `public_access = \"unchecked\"`, the services that will reject each request after the apply, because it deletes the grant to allUsers while Cloud Run still checks invokers."
  value = [
    for key, service in data.google_cloud_run_v2_service.before : service.name
    if !service.invoker_iam_disabled && strcontains(coalesce(data.google_cloud_run_v2_service_iam_policy.before[key].policy_data, "{}"), "\"allUsers\"")
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

output "undelete_commands" {
  description = "The command that restores the log bucket of the audit trail if it was deleted. Google keeps it for seven days."
  value = google_logging_project_bucket_config.audit.lifecycle_state == "DELETE_REQUESTED" ? [
    "gcloud logging buckets undelete ${google_logging_project_bucket_config.audit.bucket_id} --location=${var.region} --project=${var.project_id}"
  ] : []
}

output "uptime_check_id" {
  description = "The id of the uptime check, which alerts name."
  value       = google_monitoring_uptime_check_config.this.uptime_check_id
}
