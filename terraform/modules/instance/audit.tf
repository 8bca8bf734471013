locals {
  # The resources whose lines are the instance's.
  audited = [for function in local.functions : "(resource.type = \"cloud_run_revision\" AND resource.labels.service_name = \"${function.name}\")"]
}

# The audit trail: the log lines with this label, of the functions. The bucket keeps them longer than the project's other logs.
resource "google_logging_project_bucket_config" "audit" {
  project        = var.project_id
  location       = var.region
  bucket_id      = "${var.id}-audit"
  description    = "Exports, imports and removals of the identity instance ${var.id}, and who called them."
  retention_days = var.audit_retention_days
  # Removing an instance keeps its trail, as it keeps its database.
  deletion_policy = "ABANDON"
}

# A sink to a log bucket of the same project needs no role.
resource "google_logging_project_sink" "audit" {
  project                = var.project_id
  name                   = "${var.id}-audit"
  destination            = "logging.googleapis.com/${google_logging_project_bucket_config.audit.id}"
  filter                 = "labels.log_type = \"audit\" AND (${join(" OR ", local.audited)})"
  unique_writer_identity = true
}
