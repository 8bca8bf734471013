locals {
  # The functions that the load balancer's routes name.
  functions = toset(jsondecode(file("${path.module}/modules/edge/routes.json"))[*].function)
}

resource "google_storage_bucket" "source" {
  name                        = "${var.project_id}-identity-source"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  versioning {
    enabled = true
  }

  depends_on = [google_project_service.this]
}

# Content-addressed: a changed archive is a new object and redeploys its function; an unchanged archive plans no change.
resource "google_storage_bucket_object" "source" {
  for_each = local.functions

  bucket = google_storage_bucket.source.name
  name   = "${each.key}/${filesha256("${var.dist_directory}/${each.key}.zip")}.zip"
  source = "${var.dist_directory}/${each.key}.zip"
}

resource "google_artifact_registry_repository" "functions" {
  repository_id = "identity-functions"
  description   = "Container images that Cloud Functions builds."
  location      = var.region
  format        = "DOCKER"

  cleanup_policies {
    id     = "keep-five"
    action = "KEEP"
    most_recent_versions {
      keep_count = 5
    }
  }
  cleanup_policies {
    id     = "delete-others"
    action = "DELETE"
    condition {
      older_than = "2592000s"
    }
  }

  depends_on = [google_project_service.this]
}

# Builds without an explicit account run as the project's default account, which often has far broader permissions.
resource "google_service_account" "build" {
  account_id   = "identity-build"
  display_name = "Builds the identity functions"

  depends_on = [google_project_service.this]
}

resource "google_project_iam_member" "build" {
  project = var.project_id
  role    = "roles/cloudbuild.builds.builder"
  member  = google_service_account.build.member
}
