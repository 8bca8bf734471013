locals {
  # Every function that a route leads to, by its name in the code.
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

# Named by content: a changed archive is a new object, which deploys its function; an unchanged one is no change at all.
resource "google_storage_bucket_object" "source" {
  for_each = local.functions

  bucket = google_storage_bucket.source.name
  name   = "${each.key}/${filesha256("${var.dist_directory}/${each.key}.zip")}.zip"
  source = "${var.dist_directory}/${each.key}.zip"
}

resource "google_artifact_registry_repository" "functions" {
  repository_id = "identity-functions"
  description   = "The images that Cloud Functions builds."
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

# Without an account of its own a build runs as the project's default one, which may be able to do far more.
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
