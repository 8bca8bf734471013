resource "google_cloudfunctions2_function" "this" {
  for_each = local.functions

  project  = var.project_id
  location = var.region
  # Kebab case, so that the underlying Cloud Run service has the same name.
  name        = each.value.name
  description = "${each.key} of the identity instance ${var.id}"
  labels      = local.labels
  # With a key, the repository of images and the bucket of sources must have it too.
  kms_key_name = var.kms_keys.region

  build_config {
    runtime           = "nodejs24"
    entry_point       = each.key
    service_account   = var.build_service_account
    docker_repository = var.docker_repository

    # The provider does not read the source back, so it would miss a failed release. It reads this variable back.
    environment_variables = { ARCHIVE = var.archives[each.key].object }

    source {
      storage_source {
        bucket = var.archives[each.key].bucket
        object = var.archives[each.key].object
      }
    }

    automatic_update_policy {}
  }

  service_config {
    available_cpu                    = "1"
    available_memory                 = "${each.value.memory}Mi"
    timeout_seconds                  = each.value.timeout
    max_instance_request_concurrency = each.value.concurrency
    min_instance_count               = each.value.min_instances
    max_instance_count               = each.value.max_instances
    ingress_settings                 = "ALLOW_INTERNAL_AND_GCLB"
    all_traffic_on_latest_revision   = true
    service_account_email            = google_service_account.function[each.key].email

    # An empty variable would be a difference at every plan, because the platform drops it.
    environment_variables = {
      for name, value in local.environment : name => replace(value, "HEAP_MIB", floor(each.value.memory / 2)) if value != ""
    }

    dynamic "secret_environment_variables" {
      for_each = each.value.master_key ? [var.master_key] : []

      content {
        key        = "IDENTITY_MASTER_KEY"
        project_id = var.project_id
        secret     = secret_environment_variables.value.secret
        version    = secret_environment_variables.value.version
      }
    }
  }

  depends_on = [time_sleep.roles]
}
