output "addresses" {
  description = "The load balancer's addresses, by the type of the DNS record that leads to each."
  value       = { A = google_compute_global_address.this["IPV4"].address, AAAA = google_compute_global_address.this["IPV6"].address }
}

# An import evaluates outputs before the resources of an added instance exist, so both leave that instance out.
output "certificate_records" {
  description = "Each instance's DNS record that authorises its certificate."
  value = { for id, instance in var.instances : id => one([
    for record in google_certificate_manager_dns_authorization.this[instance.domain].dns_resource_record :
    { name = record.name, type = record.type, data = record.data }
  ]) if contains(keys(google_certificate_manager_dns_authorization.this), instance.domain) }
}

output "hosts" {
  description = "Each instance's domain, as the certificate map serves it."
  value = {
    for id, instance in var.instances : id => google_certificate_manager_certificate_map_entry.this[instance.domain].hostname
    if contains(keys(google_certificate_manager_certificate_map_entry.this), instance.domain)
  }
}
