output "base_urls" {
  description = "Where each instance answers, once its DNS records are there and its certificate is issued."
  value       = { for id, host in module.edge.hosts : id => "https://${host}" }
}

output "dns_records" {
  description = "The records to create for each instance: the first lets its certificate be issued, the second leads its domain to the load balancer."
  value = { for id, host in module.edge.hosts : id => [
    module.edge.certificate_records[id],
    { name = "${host}.", type = "A", data = module.edge.address },
  ] }
}

output "next_commands" {
  description = "The command that makes each instance's first token, once."
  value       = { for id, database in local.databases : id => "npm run -s identity -- init --firestore ${database} --token-file ${id}.pat" }
}

output "transfer_buckets" {
  description = "Each instance's buckets for files that are exported and imported."
  value       = { for id, instance in module.instance : id => instance.buckets }
}

locals {
  # As the identity command takes them: PROJECT/DATABASE.
  databases = { for id, instance in module.instance : id => "${var.project_id}/${instance.database}" }
}
