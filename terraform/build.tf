locals {
  # The functions in the load balancer's routes.
  functions = toset(jsondecode(file("${path.module}/modules/edge/routes.json"))[*].function)
}

resource "google_storage_bucket" "source" {
  name                        = "${var.project_id}-identity-source"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  dynamic "encryption" {
    for_each = var.kms_key == null ? [] : [var.kms_key]
    content {
      default_kms_key_name = encryption.value
    }
  }

  # No versions: builds are reproducible, and a bucket with noncurrent objects cannot be destroyed.

  depends_on = [time_sleep.services]
}

# Content-addressed: a changed archive is a new object and redeploys its function; an unchanged archive plans no change. Terraform
# deletes the old object first, which is safe because Cloud Functions has a copy. In the other order, it would delete an archive
# that it has just uploaded again from another directory.
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
  kms_key_name  = var.kms_key

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

  depends_on = [time_sleep.services]
}

# Builds without an explicit account run as the project's default account, which often has far broader permissions.
resource "google_service_account" "build" {
  account_id   = "identity-build"
  display_name = "Builds the identity functions"

  depends_on = [time_sleep.services]
}

resource "google_artifact_registry_repository_iam_member" "build" {
  project    = var.project_id
  location   = google_artifact_registry_repository.functions.location
  repository = google_artifact_registry_repository.functions.repository_id
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.build.member

  # A repository with another key is a new repository of the same name, without the roles of the first.
  lifecycle {
    replace_triggered_by = [google_artifact_registry_repository.functions.id]
  }
}

resource "google_project_iam_member" "build_log" {
  project = var.project_id
  role    = "roles/logging.logWriter"
  member  = google_service_account.build.member
}

resource "google_storage_bucket_iam_member" "build" {
  bucket = google_storage_bucket.source.name
  role   = "roles/storage.objectViewer"
  member = google_service_account.build.member
}

# Cloud Functions copies each archive to its own bucket, which exists only after the first deployment. So the role is granted on
# the project, and its condition restricts it to that bucket. The account must not read the transfer buckets. With a key, the
# bucket's name ends in a hash of the key's name (https://cloud.google.com/functions/docs/building). The condition permits reading
# objects, not listing them, because a build gets the name of its object. This has not been tried in a project.
locals {
  function_sources = "projects/_/buckets/gcf-v2-sources-${google_storage_bucket.source.project_number}-${var.region}${var.kms_key == null ? "/" : "-"}"
}

resource "google_project_iam_member" "build_source" {
  project = var.project_id
  role    = "roles/storage.objectViewer"
  member  = google_service_account.build.member

  condition {
    title      = "function-sources"
    expression = "resource.name.startsWith(\"${local.function_sources}\")"
  }
}

# Roles take effect a while after they are granted, so a build that starts at once may not be able to read its sources
# (https://github.com/hashicorp/terraform-provider-google/issues/20571). Functions get the account from here. If the instances
# depended on this whole resource, their create_before_destroy would spread to the repository, which cannot exist twice.
resource "time_sleep" "build_roles" {
  create_duration = "120s"
  triggers = {
    account = google_service_account.build.id
    roles = join(" ", [
      google_artifact_registry_repository_iam_member.build.id,
      google_project_iam_member.build_log.id,
      google_project_iam_member.build_source.id,
      google_storage_bucket_iam_member.build.id,
    ])
  }
}
