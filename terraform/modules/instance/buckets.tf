# Buckets for files in transit between instances. The functions have no access to them: each request carries the key of a
# service account, and that account needs the permission.
resource "google_storage_bucket" "transfer" {
  for_each = toset(["exports", "imports"])

  project                     = var.project_id
  name                        = "${var.project_id}-${var.id}-${each.key}"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = false
  labels                      = local.labels

  dynamic "encryption" {
    for_each = var.kms_keys.region == null ? [] : [var.kms_keys.region]
    content {
      default_kms_key_name = encryption.value
    }
  }

  # These files hold credentials: a deleted one must be gone, not recoverable for a week, as is the default.
  soft_delete_policy {
    retention_duration_seconds = 0
  }

  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      age = 7
    }
  }
  lifecycle_rule {
    action {
      type = "AbortIncompleteMultipartUpload"
    }
    condition {
      age = 1
    }
  }
}

resource "google_storage_bucket_iam_member" "exporter" {
  for_each = var.exporters

  bucket = google_storage_bucket.transfer["exports"].name
  role   = "roles/storage.objectCreator"
  member = each.key
}

resource "google_storage_bucket_iam_member" "importer" {
  for_each = var.importers

  bucket = google_storage_bucket.transfer["imports"].name
  role   = "roles/storage.objectViewer"
  member = each.key
}
