# The id of the instance by each domain and each database. A domain has a dot, and a database has none.
locals {
  claims = merge([for id, instance in var.instances : {
    (instance.domain)                 = id
    (coalesce(instance.database, id)) = id
  }]...)
  plan = jsonencode([plantimestamp(), local.claims])

  master_keys = { for id, instance in var.instances : "${id}-master-key/${instance.master_key_version}" => {
    secret  = "${id}-master-key"
    version = instance.master_key_version
  } }
}

# Remembers the plan that added each id. An id is new if that is the current plan.
resource "terraform_data" "id" {
  for_each = var.instances
  input    = local.plan

  lifecycle {
    ignore_changes = [input]
  }
}

# Remembers the plan that added each domain and each database.
resource "terraform_data" "claim" {
  for_each = local.claims
  input    = local.plan

  # Under another id, all resources of an instance would be replaced, and its domain would lead to an empty database.
  lifecycle {
    ignore_changes = [input]

    postcondition {
      condition     = self.input == local.plan || try(terraform_data.id[each.value].input, null) != local.plan
      error_message = "${each.key} is in use, and the new instance ${each.value} would have none of its data. The id of an instance cannot change: set it back. To pass ${each.key} to a new instance, create the instance without it first (docs/operations-google-cloud.md, \"Ids, domains and databases\")."
    }
  }
}

# Remembers the plan that added each version of a master key.
resource "terraform_data" "master_key" {
  for_each = local.master_keys
  input    = local.plan

  lifecycle {
    ignore_changes = [input]
  }
}

# The plan fails if an added version does not exist. Earlier ones are not read, so that a destroy needs no secret. Only metadata
# is read: otherwise Terraform's state would contain the key.
data "google_secret_manager_secret_version" "added" {
  for_each = { for name, key in local.master_keys : name => key if try(terraform_data.master_key[name].input, null) == local.plan }

  secret            = each.value.secret
  version           = each.value.version
  fetch_secret_data = false
}

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
  max_instances = each.value.max_instances

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
