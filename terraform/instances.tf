# Terraform remembers ids, domains and databases with the plan that added them. Another id would replace all resources of an
# instance, and its domains would lead to an empty database. A domain that the same plan adds has no certificate yet. The output
# base_urls rejects both.
locals {
  # The id of the instance by domain and by database. A domain contains a dot, and a database does not.
  claims = merge([for id, instance in var.instances : merge(
    { for domain in instance.domains : domain => id },
    { (coalesce(instance.database, id)) = id },
  )]...)
  plan      = jsonencode([plantimestamp(), local.claims])
  added_ids = [for id, record in terraform_data.id : id if record.input == local.plan]
  # During an import, a new instance has no records.
  taken = {
    for claim, id in local.claims : claim => id
    if contains(local.added_ids, id) && try(terraform_data.claim[claim].input, local.plan) != local.plan
  }
  # Existing instances whose first domain is new.
  hasty = [
    for id, instance in var.instances : id
    if !contains(local.added_ids, id) && try(terraform_data.claim[instance.domains[0]].input, "") == local.plan
  ]
}

resource "terraform_data" "id" {
  for_each = var.instances
  input    = local.plan

  lifecycle {
    ignore_changes = [input]
  }
}

resource "terraform_data" "claim" {
  for_each = local.claims
  input    = local.plan

  lifecycle {
    ignore_changes = [input]
  }
}

# The plan fails if a master key does not exist. It reads only the metadata of the key, because Terraform's state would contain
# the key otherwise.
data "google_secret_manager_secret_version" "master_key" {
  for_each = var.instances

  secret            = "${each.key}-master-key"
  version           = each.value.master_key_version
  fetch_secret_data = false
}

module "instance" {
  source   = "./modules/instance"
  for_each = var.instances

  id           = each.key
  project_id   = var.project_id
  region       = var.region
  domain       = each.value.domains[0]
  database     = coalesce(each.value.database, each.key)
  location     = coalesce(each.value.location, var.region)
  exporters    = each.value.exporters
  importers    = each.value.importers
  cors_origins = each.value.cors_origins
  master_key = {
    secret  = data.google_secret_manager_secret_version.master_key[each.key].secret
    version = data.google_secret_manager_secret_version.master_key[each.key].version
  }
  min_instances = each.value.min_instances
  max_instances = each.value.max_instances
  memory        = each.value.memory
  backup_days   = each.value.backup_days

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

# A warning in each plan and at the end of each apply, with the commands once they are needed.
check "services_accept_requests" {
  assert {
    condition     = length(flatten(values(module.instance)[*].checked_services)) == 0
    error_message = "Cloud Run checks invokers, so ${join(", ", flatten(values(module.instance)[*].checked_services))} reject each request. Run these commands:\n${local.indented_commands}"
  }
}

# The names of the Cloud Run services. They do not come from the instances, because backends are replaced before they are deleted,
# and this would spread to all resources on which they depend. A function whose build failed must be deleted before the next
# function of its name is created.
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
    domains  = instance.domains
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
    services        = module.instance[id].services
    uptime_check_id = module.instance[id].uptime_check_id
  } }

  depends_on = [time_sleep.services]
}
