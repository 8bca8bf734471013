output "addresses" {
  description = "The load balancer's addresses, by the type of the DNS record that leads to each."
  value       = { A = google_compute_global_address.this["IPV4"].address, AAAA = google_compute_global_address.this["IPV6"].address }
}

output "certificate_records" {
  description = "Each instance's DNS record that authorises its certificate."
  value = { for id, authorization in google_certificate_manager_dns_authorization.this : id => {
    name = authorization.dns_resource_record[0].name
    type = authorization.dns_resource_record[0].type
    data = authorization.dns_resource_record[0].data
  } }
}

output "hosts" {
  description = "Each instance's domain, as the certificate map serves it."
  value       = { for id, entry in google_certificate_manager_certificate_map_entry.this : id => entry.hostname }
}
