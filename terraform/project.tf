# Only its number is read, which names the buckets and agents of Google's services.
data "google_project" "this" {
  project_id = var.project_id
}

locals {
  labels = merge({ app = "identity" }, var.labels)
}

resource "google_project_service" "this" {
  for_each = toset(concat(var.budget == null ? [] : ["billingbudgets.googleapis.com"], [
    "artifactregistry.googleapis.com",
    "certificatemanager.googleapis.com",
    "cloudbuild.googleapis.com",
    "cloudfunctions.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "compute.googleapis.com",
    "firebaserules.googleapis.com",
    "firestore.googleapis.com",
    "iam.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "run.googleapis.com",
    "secretmanager.googleapis.com",
    "storage.googleapis.com",
  ]))

  service            = each.key
  disable_on_destroy = false
}
