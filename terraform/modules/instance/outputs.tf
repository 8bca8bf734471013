output "accounts" {
  description = "The service accounts of the functions, as IAM members."
  value       = values(google_service_account.function)[*].member
}

output "archives" {
  description = "The object that each function was built from, by the function's name in the code."
  value       = { for key, function in google_cloudfunctions2_function.this : key => function.build_config[0].environment_variables["ARCHIVE"] }
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

output "settings" {
  description = "What the instance's resources have of its settings."
  value = {
    database_kms_key = one(google_firestore_database.this.cmek_config[*].kms_key_name)
    domain           = google_monitoring_uptime_check_config.this.monitored_resource[0].labels.host
    environment      = { for key, function in google_cloudfunctions2_function.this : key => function.service_config[0].environment_variables }
    exporters        = toset(values(google_storage_bucket_iam_member.exporter)[*].member)
    importers        = toset(values(google_storage_bucket_iam_member.importer)[*].member)
    location         = google_firestore_database.this.location_id
    master_keys      = { for key, function in google_cloudfunctions2_function.this : key => [for variable in function.service_config[0].secret_environment_variables : "${variable.secret}@${variable.version}"] }
    max_instances    = { for key, function in google_cloudfunctions2_function.this : key => function.service_config[0].max_instance_count }
    min_instances    = { for key, function in google_cloudfunctions2_function.this : key => function.service_config[0].min_instance_count }
  }
}

output "states" {
  description = "The state of each function in Google Cloud, by the function's name in the code."
  value       = { for key, function in google_cloudfunctions2_function.this : key => function.state }
}

output "uptime_check_id" {
  description = "The id of the uptime check, which alerts name."
  value       = google_monitoring_uptime_check_config.this.uptime_check_id
}
