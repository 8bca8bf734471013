output "base_urls" {
  description = "Each instance's base URL. It works once the DNS records exist and the certificate is issued."
  value       = { for id, host in module.edge.hosts : id => "https://${host}" }

  precondition {
    condition     = length(local.taken) == 0
    error_message = "An existing instance has ${join(" and ", keys(local.taken))}, and the new instance ${join(" and ", distinct(values(local.taken)))} would have none of its data. The id of an instance cannot change: set it back. To pass a domain to a new instance, see docs/operations-google-cloud.md, \"Ids, domains and databases\"."
  }
}

output "dns_records" {
  description = "The DNS records to create for each instance: the first authorises its certificate, the others point its domain at the load balancer."
  value = { for id, host in module.edge.hosts : id => concat(
    [module.edge.certificate_records[id]],
    [for type, address in module.edge.addresses : { name = "${host}.", type = type, data = address }],
  ) }
}

output "invoker_commands" {
  description = "The commands that disable the check of invokers, for `public_access = \"unchecked\"`. docs/operations-google-cloud.md, \"Organisation policies\", lists when to run them."
  value       = flatten(values(module.instance)[*].invoker_commands)
}

output "next_commands" {
  description = "The command that creates each instance's first token. Run it once."
  value       = { for id, database in local.databases : id => "npm run -s identity -- init --firestore ${database} --token-file ${id}.pat" }
}

# After a failed update, Google can return the new settings. Then only the state of the function shows the failure.
output "redeploy_commands" {
  description = "The command for each function that is not active because its last deployment failed: it replaces the function."
  value = flatten([for id, instance in module.instance : [
    for function, state in instance.states :
    "terraform -chdir=terraform apply -replace='module.instance[\"${id}\"].google_cloudfunctions2_function.this[\"${function}\"]'" if state != "ACTIVE"
  ]])
}

output "transfer_buckets" {
  description = "The names of each instance's buckets, under `exports`, `imports` and `transfers`."
  value       = { for id, instance in module.instance : id => instance.buckets }
}

locals {
  # PROJECT/DATABASE, the form that the identity command accepts.
  databases = { for id, instance in module.instance : id => "${var.project_id}/${instance.database}" }
}
