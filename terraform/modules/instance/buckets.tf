# Buckets for files in transit between instances. The functions have no access to exports and imports: each request carries
# the key of a service account, and that account needs the permission. The bucket transfers is the functions' own: an export
# that exceeds a response, and a file that exceeds a request, pass through it.
resource "google_storage_bucket" "transfer" {
  for_each = { exports = { days = 7 }, imports = { days = 7 }, transfers = { days = 1 } }

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
      age = each.value.days
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

  # A browser sends "Origin: null" when a redirect leads from the instance's domain to the bucket, so no list of origins
  # matches. The signed URL authorises a download, and the instance sends it to cors_origins only. Of the headers of an
  # export, x-request-id follows the redirect, and must be permitted.
  dynamic "cors" {
    for_each = each.key == "transfers" && length(var.cors_origins) > 0 ? [["*"]] : []
    content {
      origin          = cors.value
      method          = ["GET", "PUT"]
      response_header = ["Content-Range", "Content-Type", "Range", "X-Request-Id"]
      max_age_seconds = 3600
    }
  }
}

# To create, read and delete. Google's narrowest role for these also permits to list and update objects, which the
# functions do not.
resource "google_storage_bucket_iam_member" "transfers" {
  for_each = { for name, settings in local.functions : name => settings if settings.transfers }

  bucket = google_storage_bucket.transfer["transfers"].name
  role   = "roles/storage.objectUser"
  member = google_service_account.function[each.key].member
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
