module "instance" {
  source   = "./modules/instance"
  for_each = var.instances

  id           = each.key
  project_id   = var.project_id
  region       = var.region
  domain       = each.value.domain
  database     = coalesce(each.value.database, each.key)
  location     = coalesce(each.value.location, var.region)
  exporters    = each.value.exporters
  importers    = each.value.importers
  cors_origins = each.value.cors_origins
  master_key = {
    secret  = "${each.key}-master-key"
    version = each.value.master_key_version
  }
  min_instances = each.value.min_instances

  archives = { for name, archive in google_storage_bucket_object.source : name => {
    bucket = archive.bucket
    object = archive.name
  } }
  audit_retention_days  = var.audit_retention_days
  build_service_account = time_sleep.build_roles.triggers["account"]
  docker_repository     = google_artifact_registry_repository.functions.id
  kms_keys              = { database = each.value.database_kms_key, region = var.kms_key }
  labels                = local.labels
  public_access         = var.public_access

  depends_on = [time_sleep.services]
}

# The names of the Cloud Run services, not taken from the instances: backends are replaced before they go, and then so is all
# that they depend on. A function whose build failed must go before the next one of its name comes.
locals {
  services = { for id in keys(var.instances) : id => {
    for function in local.functions : function => "${id}-${lower(replace(function, "/([A-Z])/", "-$1"))}"
  } }
}

module "edge" {
  source = "./modules/edge"

  admin_requests_per_minute = var.admin_requests_per_minute
  region                    = var.region
  requests_per_minute       = var.requests_per_minute
  instances = { for id, instance in var.instances : id => {
    domain   = instance.domain
    services = local.services[id]
  } }

  depends_on = [time_sleep.services]
}

module "monitoring" {
  source = "./modules/monitoring"

  labels                = local.labels
  notification_channels = local.notification_channels
  project_id            = var.project_id
  instances = { for id, instance in var.instances : id => {
    domain          = instance.domain
    services        = module.instance[id].services
    uptime_check_id = module.instance[id].uptime_check_id
  } }

  depends_on = [time_sleep.services]
}
