# The `identity` command as a Cloud Run job, for exports and imports beyond the 60 minutes of a function. It runs only when
# somebody executes it, with the arguments of that execution: the output job_commands has examples.
locals {
  has_job = var.job != null

  # Sizes are in MiB. As in the functions, half of the memory is for buffers and the file system, which is in memory too.
  job = {
    name   = "${var.id}-job"
    memory = 4096
    heap   = 2048
    # In seconds: a week, the longest that Cloud Run allows. Firestore keeps the moment of an export as long.
    timeout = 604800
  }

  # The arguments of the command by what an execution does.
  job_database = "firestore:${var.project_id}/${google_firestore_database.this.name}"
  job_arguments = local.has_job ? {
    export = [
      "export", local.job_database, "--to", "gs://${google_storage_bucket.transfer["exports"].name}/${var.id}.json",
      "--parts", 16 * var.job.tasks, "--with", "passwords,otp,keys", "--json",
    ]
    import = ["import", "gs://${google_storage_bucket.transfer["imports"].name}/${var.id}.json", "--to", local.job_database, "--with", "all", "--json"]
  } : {}
  # gcloud splits a list at commas, unless it begins with another separator between two carets.
  job_commands = {
    for operation, arguments in local.job_arguments : operation =>
    "gcloud run jobs execute ${local.job.name} --region=${var.region} --project=${var.project_id} --args='^@^${join("@", arguments)}'"
  }
}

resource "google_service_account" "job" {
  count = local.has_job ? 1 : 0

  project      = var.project_id
  account_id   = local.job.name
  display_name = "Job of the identity instance ${var.id}"
}

resource "google_project_iam_member" "job_database" {
  count = local.has_job ? 1 : 0

  project = var.project_id
  role    = "roles/datastore.user"
  member  = google_service_account.job[0].member

  condition {
    title      = "database-${var.id}"
    expression = local.own_database
  }
}

# The job overwrites and deletes no object, so no role allows it to.
resource "google_storage_bucket_iam_member" "job" {
  for_each = {
    for pair in setproduct(local.has_job ? keys(google_storage_bucket.transfer) : [], ["roles/storage.objectCreator", "roles/storage.objectViewer"]) :
    join(" ", pair) => { bucket = pair[0], role = pair[1] }
  }

  bucket = google_storage_bucket.transfer[each.value.bucket].name
  role   = each.value.role
  member = google_service_account.job[0].member
}

resource "google_secret_manager_secret_iam_member" "job_master_key" {
  count = local.has_job ? 1 : 0

  project   = var.project_id
  secret_id = var.master_key.secret
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.job[0].member
}

# Cloud Run checks at once that a job may read its key, and a role takes effect a while after it is granted.
resource "time_sleep" "job_roles" {
  count = local.has_job ? 1 : 0

  create_duration = "120s"
  triggers        = { account = google_service_account.job[0].unique_id, secret = var.master_key.secret }

  depends_on = [google_project_iam_member.job_database, google_secret_manager_secret_iam_member.job_master_key]
}

resource "google_cloud_run_v2_job" "this" {
  count = local.has_job ? 1 : 0

  project  = var.project_id
  location = var.region
  name     = local.job.name
  labels   = local.labels
  # It has no state: removing the instance, or its job, removes it.
  deletion_protection = false

  template {
    # Tasks of an import wait for each other, and one that starts much later has no share.
    task_count  = var.job.tasks
    parallelism = var.job.tasks

    template {
      service_account = google_service_account.job[0].email
      timeout         = "${local.job.timeout}s"
      # A task that is started again resumes.
      max_retries    = 3
      encryption_key = var.kms_keys.region

      containers {
        image = var.job.image
        # Without arguments of its own, an execution prints how to use the command, and changes nothing.
        args = ["--help"]

        resources {
          limits = {
            cpu    = tostring(var.job.cpu)
            memory = "${local.job.memory}Mi"
          }
        }

        env {
          name  = "NODE_OPTIONS"
          value = "--max-semi-space-size=16 --max-old-space-size=${local.job.heap}"
        }
        env {
          name = "IDENTITY_MASTER_KEY"
          value_source {
            secret_key_ref {
              secret  = var.master_key.secret
              version = var.master_key.version
            }
          }
        }
      }
    }
  }

  depends_on = [time_sleep.job_roles]
}
