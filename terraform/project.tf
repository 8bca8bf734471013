locals {
  labels = merge({ app = "identity" }, var.labels)
}

# Remembers the project and the region of the first apply. In another project or region, Terraform would replace the functions and
# buckets.
resource "terraform_data" "place" {
  input = { project_id = var.project_id, region = var.region }

  lifecycle {
    ignore_changes = [input]

    postcondition {
      condition     = self.input.project_id == var.project_id && self.input.region == var.region
      error_message = "The instances are in the project ${self.input.project_id} and the region ${self.input.region}, and cannot move: set project_id and region back. Another project or region is another cell (docs/operations-google-cloud.md, \"Cells\")."
    }
  }
}

resource "google_project_service" "this" {
  for_each = toset(concat([
    "artifactregistry.googleapis.com",
    "certificatemanager.googleapis.com",
    "cloudbuild.googleapis.com",
    "cloudfunctions.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "compute.googleapis.com",
    "firebaserules.googleapis.com",
    "firestore.googleapis.com",
    "iam.googleapis.com",
    "iamcredentials.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "run.googleapis.com",
    "secretmanager.googleapis.com",
    "storage.googleapis.com",
  ], var.monthly_budget == null ? [] : ["billingbudgets.googleapis.com"]))

  service            = each.key
  disable_on_destroy = false
}

# A service responds a while after it was enabled. This also waits for a service that is enabled later.
resource "time_sleep" "services" {
  create_duration = "60s"
  triggers        = { services = join(" ", keys(google_project_service.this)) }

  depends_on = [google_project_service.this]
}
