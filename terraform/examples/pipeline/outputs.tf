output "service_account" {
  description = "The value of `service_account` in the workflow."
  value       = google_service_account.deployer.email
}

output "workload_identity_provider" {
  description = "The value of `workload_identity_provider` in the workflow."
  value       = google_iam_workload_identity_pool_provider.github.name
}
