output "base_urls" {
  description = "Each instance's base URL. It works once the DNS records exist and the certificate is issued."
  value = {
    for id, instance in var.instances : id => "https://${instance.domains[0]}" if contains(keys(local.domain_records), instance.domains[0])
  }

  precondition {
    condition     = length(local.taken) == 0
    error_message = "An existing instance has ${join(" and ", keys(local.taken))}, and the new instance ${join(" and ", distinct(values(local.taken)))} would have none of its data. The id of an instance cannot change: set it back. To pass a domain to a new instance, see docs/operations-google-cloud.md, \"Domains\"."
  }
  precondition {
    condition     = length(local.hasty) == 0
    error_message = "The first domain of ${join(" and ", local.hasty)} is new, so it has no certificate: append it to domains instead, apply, and create its DNS records. It can become the first later: docs/operations-google-cloud.md, \"Change a domain\"."
  }
}

output "dns_records" {
  description = "The DNS records to create for each domain: the first authorises its certificate, the others point it at the load balancer."
  value = { for id, instance in var.instances : id => {
    for domain in instance.domains : domain => local.domain_records[domain] if contains(keys(local.domain_records), domain)
  } }
}

output "invoker_commands" {
  description = "The commands that disable the check of invokers, for `public_access = \"unchecked\"`."
  value       = flatten(values(module.instance)[*].invoker_commands)

  precondition {
    condition     = length(flatten(values(module.instance)[*].losing_services)) == 0
    error_message = "This apply would delete the grants to allUsers while Cloud Run checks invokers: ${join(", ", flatten(values(module.instance)[*].losing_services))} would reject each request. Run these commands first, and change only public_access in the apply after them:\n${local.indented_commands}"
  }
}

output "next_commands" {
  description = "The command that creates each instance's first token."
  value       = { for id, database in local.databases : id => "npm run -s identity -- init --firestore ${database} --token-file ${id}.pat" }
}

# After a failed update, Google may return the new settings. Only the state of the function shows the failure then.
output "redeploy_commands" {
  description = "The command that replaces each function whose last deployment failed."
  value = flatten([for id, instance in module.instance : [
    for function, state in instance.states :
    "terraform -chdir=terraform apply -replace='module.instance[\"${id}\"].google_cloudfunctions2_function.this[\"${function}\"]'" if state != "ACTIVE"
  ]])
}

output "undelete_commands" {
  description = "The command that restores each deleted log bucket. Google erases it after seven days."
  value       = flatten(values(module.instance)[*].undelete_commands)
}

output "transfer_buckets" {
  description = "The names of each instance's buckets, under `exports`, `imports` and `transfers`."
  value       = { for id, instance in module.instance : id => instance.buckets }
}

locals {
  # Terraform does not wrap indented lines.
  indented_commands = join("\n", formatlist("  %s", flatten(values(module.instance)[*].invoker_commands)))

  # An import evaluates outputs before the resources of an added domain exist.
  domain_records = { for domain, record in module.edge.certificate_records : domain => concat(
    [record],
    [for type, address in module.edge.addresses : { name = "${domain}.", type = type, data = address }],
  ) }

  # PROJECT/DATABASE, the form that the identity command accepts.
  databases = { for id, instance in module.instance : id => "${var.project_id}/${instance.database}" }
}
